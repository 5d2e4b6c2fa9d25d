// SPDX-License-Identifier: MIT-0
import com.sun.tools.attach.VirtualMachine;
import javax.management.Attribute;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** Gives a running service more carriers: {@code java Carriers.java PID 8}. */
class Carriers {
    public static void main(String[] args) throws Exception {
        String address = VirtualMachine.attach(args[0]).startLocalManagementAgent();
        try (var jmx = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
            jmx.getMBeanServerConnection().setAttribute(
                new ObjectName("jdk.management:type=VirtualThreadScheduler"),
                new Attribute("Parallelism", Integer.parseInt(args[1])));
        }
    }
}
